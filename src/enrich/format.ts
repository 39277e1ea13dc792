/** The forms of lines that are understood. `access-log` is Apache's and nginx's common and combined log. */
export type Format = 'ndjson' | 'csv' | 'tsv' | 'access-log' | 'list'

export const FORMATS: readonly Format[] = ['ndjson', 'csv', 'tsv', 'access-log', 'list']
