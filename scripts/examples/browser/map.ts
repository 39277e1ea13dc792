// The map of the report that `geofix enrich` writes. To use this example elsewhere, copy these two files.
export { MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../../../src/cli/report/equal-earth.ts'
export { LAND } from '../../../src/cli/report/world.ts'
