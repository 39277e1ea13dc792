/** What a run of mutation testing changes, and the tests that must notice. */
export interface Folder {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
}

/** By folder of `src`. Tests that start processes or read the embedded databases are left out: each mutant runs them. */
export const FOLDERS: Readonly<Record<string, Folder>> = {
  address: {
    // The registries are a generated table: check-data and test/address/special-purpose.test.ts hold it to IANA's.
    mutate: ['src/address/**/*.ts', '!src/address/iana-registries.ts'],
    tests: ['test/address/**/*.test.ts'],
  },
  client: {
    mutate: ['src/client/**/*.ts'],
    tests: ['test/client/client-address.test.ts', 'test/client/header-field.test.ts'],
  },
  mmdb: {
    mutate: ['src/mmdb/*.ts'],
    // Not every byte of bad-data.test.ts.
    tests: [
      'test/mmdb/conformance.test.ts',
      'test/mmdb/data-section.test.ts',
      'test/mmdb/fault-list.test.ts',
      'test/mmdb/field-reader.test.ts',
      'test/mmdb/metadata.test.ts',
      'test/mmdb/networks.test.ts',
      'test/mmdb/offset-set.test.ts',
      'test/mmdb/prefix-index.test.ts',
      'test/mmdb/record-check.test.ts',
      'test/mmdb/search-tree.test.ts',
      'test/mmdb/tree-check.test.ts',
      'test/mmdb/verification.test.ts',
      'test/mmdb/whole-record.test.ts',
    ],
  },
  'mmdb/writer': {
    mutate: ['src/mmdb/writer/**/*.ts'],
    tests: ['test/mmdb/writer/**/*.test.ts'],
  },
}

/** For CI, a minute: what a hop may be, and which addresses may have a zone. */
export const SHORT: Folder = {
  mutate: ['src/address/zone.ts', 'src/client/hop.ts'],
  tests: ['test/address/zone.test.ts', 'test/client/client-address.test.ts'],
}
