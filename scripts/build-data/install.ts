// Installs the pinned sources of the data, and builds nothing: tests that compare with them need no more.
import { join } from 'node:path'
import { installPackages } from './packages.ts'

console.log(
  `the sources of the data are in ${installPackages(join(import.meta.dirname, '../../.cache/build-data'))}`,
)
