/** Width of the map in its own units; 1 unit is less than half a pixel on most screens. */
export const MAP_WIDTH = 2000

/** With the map centred here, its edge runs through the Bering Strait and cuts no land but a tip of Antarctica. */
export const CENTRAL_MERIDIAN = 11

// Equal Earth, by Šavrič, Patterson and Jenny (2018), doi:10.1080/13658816.2018.1504949: it keeps areas, so that
// a circle of some size means as much in Norway as in Kenya. The polynomial of section 3.
const A1 = 1.340264
const A2 = -0.081106
const A3 = 0.000893
const A4 = 0.003796
const M = Math.sqrt(3) / 2

const RADIANS = Math.PI / 180

/** Of the projection's own units, in which the equator is 2π / (M · A1) long. */
const SCALE = (MAP_WIDTH * M * A1) / (2 * Math.PI)

/** Height of the whole earth in units of the map. */
export const MAP_HEIGHT = 2 * SCALE * northing(Math.asin(M))

export interface MapPoint {
  /** From the left edge, 0 to `MAP_WIDTH`. */
  readonly x: number
  /** From the north pole, 0 to `MAP_HEIGHT`. */
  readonly y: number
}

/** Where a place is on the map. Coordinates are in degrees, longitudes of any turn. */
export function mapPoint(latitude: number, longitude: number): MapPoint {
  const angle = Math.asin(M * Math.sin(latitude * RADIANS))
  const square = angle * angle
  const sixth = square * square * square
  const slope = A1 + 3 * A2 * square + sixth * (7 * A3 + 9 * A4 * square)
  const fromCentre = wrapped(longitude - CENTRAL_MERIDIAN) * RADIANS
  return {
    x: MAP_WIDTH / 2 + (SCALE * fromCentre * Math.cos(angle)) / (M * slope),
    y: MAP_HEIGHT / 2 - SCALE * northing(angle),
  }
}

function northing(angle: number): number {
  const square = angle * angle
  const sixth = square * square * square
  return angle * (A1 + A2 * square + sixth * (A3 + A4 * square))
}

/** The same direction from -180 to 180 degrees. */
function wrapped(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360)
}
