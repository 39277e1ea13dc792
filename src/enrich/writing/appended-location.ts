// What formats that are not readers yet append to a line.
import type { CommonPlan } from '../options.ts'
import type { LocationTemplate } from './location-template.ts'
import { type AppendPlan, lineForm } from './record-form.ts'

export { type AppendPlan, appendPlan } from './record-form.ts'

type Plan = AppendPlan & Pick<CommonPlan, 'into' | 'jsonFields' | 'asn' | 'cells'>

export function appendTemplate(plan: Plan): LocationTemplate {
  return lineForm(plan).template
}

export function appendedNothing(plan: Plan): Uint8Array | null {
  return plan.append ? new TextEncoder().encode(lineForm(plan).nothing) : null
}
