// JSON objects, one object a line.
import { shownName } from '../../errors.ts'
import { plainLayout } from '../../reading/layout.ts'
import { jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { pathText } from './member-path.ts'
import { ObjectReader } from './object-reader.ts'
import { looksLikeNdjson, type NdjsonPlan, planNdjson } from './plan.ts'

export const NDJSON: FormatDefinition<NdjsonPlan> = {
  name: 'ndjson',
  title: 'JSON objects, one a line',
  example: '{"ts":"2026-07-01T12:00:00Z","client_ip":"81.2.69.142"}',
  options: ['field', 'timeField', 'overwrite'],
  mayBeWrapped: true,
  requiredForRows: ['field', 'at'],
  recognise: looksLikeNdjson,
  plan: planNdjson,
  layout: plainLayout,
  addressPosition: ({ path }) => `in ${shownName(pathText(path))}`,
  nextFormat: ({ format }) => format,
  fieldNames: () => null,
  usualFields: ({ requestFields }) => requestFields,
  form: (plan) => jsonForm(plan, 'member'),
  makeReader: (plan) => new ObjectReader(plan, { hasUsual: true }),
}
