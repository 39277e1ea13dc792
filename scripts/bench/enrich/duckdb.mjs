// The report that a user would write with DuckDB and maxmind:
//
//     node duckdb.mjs DATABASE ACCESS_LOG THREADS FOLDER DUCKDB_FOLDER
//
// prints the number of lines of each country in each hour. FOLDER has maxmind in its node_modules, and DUCKDB_FOLDER
// has @duckdb/node-api.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [database, log, threads, folder, duckdbFolder] = process.argv.slice(2)
const maxmind = createRequire(join(folder, 'any.js'))('maxmind')
const { DuckDBInstance } = createRequire(join(duckdbFolder, 'any.js'))('@duckdb/node-api')

const instance = await DuckDBInstance.create(':memory:', { threads })
const connection = await instance.connect()
const lines = `read_csv('${log.replaceAll("'", "''")}', columns = { 'line': 'VARCHAR' }, header = false, delim = '\\t', quote = '', escape = '')`
await connection.run(`
  CREATE TABLE requests AS
  SELECT split_part(line, ' ', 1) AS ip, regexp_extract(line, '\\[([^:]*:\\d\\d)', 1) AS hour
  FROM ${lines}`)

const reader = await maxmind.open(database, { cache: { max: 100_000 } })
await connection.run('CREATE TABLE places (ip VARCHAR, country VARCHAR)')
const places = await connection.createAppender('places')
const distinct = await connection.runAndReadAll('SELECT DISTINCT ip FROM requests')
for (const [ip] of distinct.getRows()) {
  const country = maxmind.validate(ip) ? reader.get(ip)?.country?.iso_code : undefined
  places.appendVarchar(ip)
  places.appendVarchar(country ?? '')
  places.endRow()
}
places.closeSync()

const counts = await connection.runAndReadAll(`
  SELECT country, hour, count(*) AS requests
  FROM requests JOIN places USING (ip)
  GROUP BY ALL ORDER BY ALL`)
for (const row of counts.getRows()) console.log(row.join('\t'))
