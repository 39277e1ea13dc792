import { expect } from 'vitest'

/** An InvalidDatabaseError with a part of its message, and the path before it if the test gives one. */
export const invalid = (message: string, path?: string): unknown =>
  expect.objectContaining({
    ...{ name: 'InvalidDatabaseError', path },
    message: expect.toSatisfy(
      (text: string) => text.startsWith(path === undefined ? '' : `${path}: `) && text.includes(message),
    ),
  })
