import com.maxmind.db.CHMCache;
import com.maxmind.db.MaxMindDbConstructor;
import com.maxmind.db.MaxMindDbParameter;
import com.maxmind.db.Reader;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a Java program pays: MaxMind's reader, with the cache that it recommends, looks up the addresses of a file and makes
 * objects of the fields of a LocationRecord. ../readers.ts describes the protocol of this program.
 *
 * <p>java BenchReader rounds DATABASE.mmdb ADDRESSES.txt
 */
public final class BenchReader {
  private static final int BLOCK = 1000;

  /** Where answers go, so that the compiler cannot leave out the work. */
  static volatile Object kept;

  public record Names(String english) {
    @MaxMindDbConstructor
    public Names(@MaxMindDbParameter(name = "en") String english) {
      this.english = english;
    }
  }

  public record Place(String code, Names names) {
    @MaxMindDbConstructor
    public Place(
        @MaxMindDbParameter(name = "iso_code") String code,
        @MaxMindDbParameter(name = "names") Names names) {
      this.code = code;
      this.names = names;
    }
  }

  public record Postal(String code) {
    @MaxMindDbConstructor
    public Postal(@MaxMindDbParameter(name = "code") String code) {
      this.code = code;
    }
  }

  public record Location(Double latitude, Double longitude, String timeZone) {
    @MaxMindDbConstructor
    public Location(
        @MaxMindDbParameter(name = "latitude") Double latitude,
        @MaxMindDbParameter(name = "longitude") Double longitude,
        @MaxMindDbParameter(name = "time_zone") String timeZone) {
      this.latitude = latitude;
      this.longitude = longitude;
      this.timeZone = timeZone;
    }
  }

  public record Found(Place country, List<Place> subdivisions, Place city, Postal postal, Location location) {
    @MaxMindDbConstructor
    public Found(
        @MaxMindDbParameter(name = "country") Place country,
        @MaxMindDbParameter(name = "subdivisions") List<Place> subdivisions,
        @MaxMindDbParameter(name = "city") Place city,
        @MaxMindDbParameter(name = "postal") Postal postal,
        @MaxMindDbParameter(name = "location") Location location) {
      this.country = country;
      this.subdivisions = subdivisions;
      this.city = city;
      this.postal = postal;
      this.location = location;
    }
  }

  public static void main(String[] arguments) throws IOException {
    try (Reader reader = new Reader(new File(arguments[1]), new CHMCache())) {
      // The lists hold literal addresses only, so that no name is ever asked for.
      List<String> addresses = Files.readAllLines(Path.of(arguments[2]));
      System.out.println("{\"version\":\"maxmind-db (Java) 4.0.2\"}");
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
      int cursor = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        double budget = Double.parseDouble(line) / 1e3;
        long started = System.nanoTime();
        double elapsed = 0;
        long items = 0;
        long found = 0;
        while (budget > 0 ? elapsed < budget : items < addresses.size()) {
          for (int i = 0; i < BLOCK; i++) {
            Found answer = reader.get(InetAddress.getByName(addresses.get(cursor)), Found.class);
            kept = answer;
            if (answer != null) found++;
            cursor = (cursor + 1) % addresses.size();
          }
          items += BLOCK;
          elapsed = (System.nanoTime() - started) / 1e9;
        }
        System.out.println("{\"items\":" + items + ",\"seconds\":" + elapsed + ",\"found\":" + found + "}");
      }
    }
  }
}
