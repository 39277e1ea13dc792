/** Width of the map in map units. A unit is less than half a pixel on most screens. */
export const MAP_WIDTH = 2000

/** Longitude in degrees. The edge of the map then runs through the Bering Strait and cuts no land except a tip of Antarctica. */
export const CENTRAL_MERIDIAN = 11

// The Equal Earth projection by Šavrič, Patterson and Jenny (2018), doi:10.1080/13658816.2018.1504949, section 3.
// It preserves areas, so that the density of circles is comparable between Norway and Kenya.
const A1 = 1.340264
const A2 = -0.081106
const A3 = 0.000893
const A4 = 0.003796
const M = Math.sqrt(3) / 2

const RADIANS = Math.PI / 180

/** Map units per unit of the projection, whose equator is 2π / (M · A1) long. */
const SCALE = (MAP_WIDTH * M * A1) / (2 * Math.PI)

/** Height of the whole earth in map units. */
export const MAP_HEIGHT = 2 * SCALE * northing(Math.asin(M))

export interface MapPoint {
  /** Distance from the left edge, 0 to `MAP_WIDTH`. */
  readonly x: number
  /** Distance from the north pole, 0 to `MAP_HEIGHT`. */
  readonly y: number
}

/** Projects coordinates in degrees. Longitudes may be beyond ±180. */
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

/** The equivalent angle from -180 to 180 degrees. */
function wrapped(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360)
}
