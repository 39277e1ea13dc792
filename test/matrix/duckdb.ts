import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeMatrix, installTools, MATRIX, run } from './tools.ts'

/** The part of DuckDB's client that is used here. */
interface Duck {
  readonly DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> }
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][]; columnNames(): string[] }>
}

/** What the tests beside DuckDB have. */
export interface Beside {
  /** A folder for files. */
  readonly folder: string
  /** Runs the built command in the folder. */
  readonly geofix: (...args: string[]) => string
  readonly query: (sql: string) => Promise<unknown[][]>
  readonly columnsOf: (sql: string) => Promise<string[]>
}

/** Tests that compare files of Geofix with what DuckDB, which shares no code with it, makes of them. */
export function describeBesideDuckDB(name: string, tests: (beside: Beside) => void): void {
  const folder = temporaryFolder()
  let connection: Promise<Connection> | undefined
  const connect = async (): Promise<Connection> => {
    const duck: Duck = createRequire(join(MATRIX, 'package.json'))('@duckdb/node-api')
    return (await duck.DuckDBInstance.create()).connect()
  }
  const result = async (sql: string) => {
    connection ??= connect()
    return (await connection).runAndReadAll(sql)
  }
  describeMatrix(name, installTools() ? undefined : 'the matrix', () =>
    tests({
      folder,
      geofix: (...args) => run(folder, process.execPath, join(ROOT, 'dist/cli.cjs'), ...args, '--quiet'),
      query: async (sql) => (await result(sql)).getRowsJson(),
      columnsOf: async (sql) => (await result(sql)).columnNames(),
    }),
  )
}
