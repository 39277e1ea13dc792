// The map of the report that `geofix enrich` writes. Elsewhere, write ./node_modules/geofix/ in place of ../../../.
export { MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../../../src/cli/report/equal-earth.ts'
export { default as countries } from '../../../src/cli/report/world.json' with { type: 'json' }
