/** Answers the parent process: one line of JSON. */
export function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
