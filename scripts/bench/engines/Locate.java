// A function for Spark in Java, with MaxMind's reader: what one would write without Geofix.
import com.maxmind.db.CHMCache;
import com.maxmind.db.Reader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.sql.Timestamp;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRulesException;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF2;

public final class Locate implements UDF2<String, Timestamp, Row> {
    private static Reader reader;

    private static synchronized Reader reader() throws IOException {
        if (reader == null) reader = new Reader(new File(System.getenv("DATABASE")), Reader.FileMode.MEMORY_MAPPED, new CHMCache());
        return reader;
    }

    @Override
    public Row call(String ip, Timestamp ts) throws IOException {
        // A name would be looked up in the network.
        if (ip == null || !ip.matches("[0-9A-Fa-f:.]+")) return null;
        Map<?, ?> record = reader().get(InetAddress.getByName(ip), Map.class);
        if (record == null) return null;
        Map<?, ?> country = part(record, "country");
        Map<?, ?> location = part(record, "location");
        List<?> subdivisions = (List<?>) record.get("subdivisions");
        Map<?, ?> region = subdivisions == null || subdivisions.isEmpty() ? Map.of() : (Map<?, ?>) subdivisions.get(0);
        Object zone = location.get("time_zone");
        Object regionCode = region.get("iso_code");
        return RowFactory.create(
            country.get("iso_code"),
            part(country, "names").get("en"),
            regionCode == null ? null : country.get("iso_code") + "-" + regionCode,
            part(region, "names").get("en"),
            part(part(record, "city"), "names").get("en"),
            number(location.get("latitude")),
            number(location.get("longitude")),
            zone,
            zone == null || ts == null ? null : offset((String) zone, ts));
    }

    private static Map<?, ?> part(Map<?, ?> record, String name) {
        Object value = record.get(name);
        return value == null ? Map.of() : (Map<?, ?>) value;
    }

    private static Double number(Object value) {
        return value == null ? null : ((Number) value).doubleValue();
    }

    private static String offset(String zone, Timestamp ts) {
        try {
            ZoneOffset offset = ZoneId.of(zone).getRules().getOffset(ts.toInstant());
            return offset.getTotalSeconds() == 0 ? "+00:00" : offset.getId();
        } catch (ZoneRulesException error) {
            // Java 17 knows no America/Coyhaique, a zone since 2025.
            return null;
        }
    }
}
