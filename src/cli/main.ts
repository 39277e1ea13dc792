#!/usr/bin/env node
import { run } from './program.ts'

/** A reader that has had enough, such as `head`, closes the pipe: no error of ours. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await run(process.argv.slice(2), process)
