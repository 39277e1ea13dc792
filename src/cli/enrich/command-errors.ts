// Errors of the library as errors of the command.
import { BadLineError, EnrichError, InputMismatchError } from '../../enrich/errors.ts'
import { inFlags } from '../options.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'
import { ENRICH_OPTIONS } from './flags.ts'
import { unreadableInput } from './system-error.ts'

/** Runs code that checks options of lines. @throws UsageError when one is wrong; its message has the flags of `geofix enrich` */
export function asUsage<Result>(check: () => Result, end = ''): Result {
  return inFlags(check, ENRICH_OPTIONS, end)
}

/** Converts an error about lines to one that names the input. Returns other errors as they are. */
export function inWords(error: unknown, name: string): unknown {
  if (error instanceof BadLineError) {
    return new CommandFailure(`${name}, line ${error.line}: ${error.fault}`, ExitStatus.failed, error)
  }
  if (error instanceof EnrichError) {
    if (error.code === 'ENRICH_INPUT_UNREADABLE') return unreadableInput(name, error)
    return new CommandFailure(`${name}: ${error.message}`, ExitStatus.failed, error)
  }
  if (error instanceof InputMismatchError) {
    return new CommandFailure(error.message, ExitStatus.failed, error)
  }
  return error
}
