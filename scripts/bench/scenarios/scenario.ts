import type { Row } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'

/** Something that is measured, and gives lines of the table. */
export interface Scenario {
  readonly title: string
  /** Whether a quick run leaves it out. */
  readonly onlyInFull: boolean
  readonly run: (stage: Stage, subject: Subject) => Promise<readonly Row[]>
}
