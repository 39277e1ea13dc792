/**
 * The options of a script, or `null` if it has nothing more to do: its usage was asked for or, with exit status 2, its options
 * are wrong.
 *
 * @param parse throws a TypeError for wrong options
 */
export function optionsOrUsage<Options extends { readonly help: boolean }>(
  parse: (args: readonly string[]) => Options,
  usage: string,
): Options | null {
  try {
    const options = parse(process.argv.slice(2))
    if (!options.help) return options
    console.log(usage)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    console.error(`${error.message}\n\n${usage}`)
    process.exitCode = 2
  }
  return null
}
