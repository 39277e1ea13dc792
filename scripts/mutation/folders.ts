/** The source files that a run of mutation testing changes, and the tests that must fail. */
export interface Folder {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
}

/** By folder of `src`. Each mutant runs all of its tests, so those that start processes or read large files are left out. */
export const FOLDERS: Readonly<Record<string, Folder>> = {
  address: {
    // The registries are a table: check-data and test/address/special-purpose.test.ts compare it with IANA's.
    mutate: ['src/address/**/*.ts', '!src/address/iana-registries.ts'],
    tests: ['test/address/**/*.test.ts'],
  },
  client: {
    mutate: ['src/client/**/*.ts'],
    tests: ['test/client/client-address.test.ts', 'test/client/request-source.test.ts'],
  },
  mmdb: {
    mutate: ['src/mmdb/*.ts', '!src/mmdb/verify.ts'],
    tests: ['test/mmdb/*.test.ts', 'test/mmdb/search-tree/*.test.ts'],
  },
  'mmdb/verify': {
    mutate: ['src/mmdb/verify.ts'],
    tests: ['test/mmdb/verify/*.test.ts'],
  },
  'mmdb/writer': {
    mutate: ['src/mmdb/writer/**/*.ts'],
    tests: ['test/mmdb/writer/**/*.test.ts'],
  },
}

/** For CI, some minutes: the spellings of a hop, and which IPv6 addresses contain IPv4 or may have a zone. */
export const SHORT: Folder = {
  mutate: ['src/address/address.ts', 'src/client/hop.ts'],
  tests: ['test/address/*.test.ts', 'test/client/client-address.test.ts'],
}
