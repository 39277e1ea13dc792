// Errors of the library as errors of the command.
import { BadLineError, EnrichError, InputMismatchError } from '../../enrich/errors.ts'
import { OptionError } from '../../option-names.ts'
import type { OptionDefinition } from '../options.ts'
import { CommandFailure, ExitStatus, UsageError } from '../terminal.ts'
import { inFlags } from './flags.ts'
import { unreadableInput } from './system-error.ts'

/**
 * Runs code that checks options.
 *
 * @param definitions the options of the command; the default are those of `geofix enrich`
 * @throws UsageError when an option is invalid
 */
export function asUsage<Result>(check: () => Result, definitions?: readonly OptionDefinition[]): Result {
  try {
    return check()
  } catch (error) {
    if (error instanceof OptionError) throw new UsageError(inFlags(error, definitions))
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
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
