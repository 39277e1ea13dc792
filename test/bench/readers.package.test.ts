import { describe, expect, it, vi } from 'vitest'
import { buildReader, LANGUAGES } from '../../scripts/bench/readers.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

describe('buildReader', () => {
  it.each(LANGUAGES)('says what to install where the tools of %s are missing', (language) => {
    vi.stubEnv('PATH', '')
    expect(() => buildReader(folder, language)).toThrow(/is not installed: (https:|apt-get install)/)
  })
})
