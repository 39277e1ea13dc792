// Tables whose records have as many columns as their header: CSV and TSV.

import { plainLayout } from '../../reading/layout.ts'
import { LineRecordEnds } from '../../reading/record-ends.ts'
import { columnsTemplate, escapedColumnsTemplate, jsonTemplate } from '../../writing/column-templates.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { DelimitedLines } from './delimited-lines.ts'
import { type DelimitedPlan, planDelimited, planRows } from './plan.ts'
import { looksLikeCsv, looksLikeTsv } from './table.ts'
import { TableObjects } from './table-objects.ts'
import { TableRows } from './table-rows.ts'

export const CSV: FormatDefinition<DelimitedPlan> = {
  name: 'csv',
  title: 'table with commas, semicolons or another separator (RFC 4180)',
  example: 'time,client_ip\n2026-07-01T12:00:00Z,81.2.69.142',
  options: ['field', 'timeField', 'header', 'overwrite', 'maxRecordLines'],
  requiredForRows: ['field', 'quoting', 'at'],
  recognise: looksLikeCsv,
  plan: (sample, isWhole, options) => planDelimited(sample, isWhole, options, 'csv'),
  layout: (plan) => {
    // A row is one line: a value with a line end has it escaped.
    if (plan.isRows) return plainLayout(plan)
    const { quotes, delimiter, maxRecordLines, maxLineBytes, hasSeparatorLine, headerLine, width } = plan
    return {
      recordEnds: quotes
        ? () => new LineRecordEnds({ delimiter, maxLines: maxRecordLines }, maxLineBytes)
        : null,
      maxLineBytes,
      preambleLines: hasSeparatorLine ? 1 : 0,
      headerLine,
      columns: width,
      directives: null,
    }
  },
  withoutHeader: (plan) => ({ ...plan, headerLine: 0, hasSeparatorLine: false }),
  addressPosition: ({ address }) => `in column ${address + 1}`,
  nextFormat: ({ format, isObject }) => (isObject ? 'ndjson' : format),
  locationTemplate: (plan) => {
    if (plan.isObject) return jsonTemplate(plan)
    const { fields, delimiter, quotes, isRows } = plan
    const separator = String.fromCharCode(delimiter)
    return isRows && !quotes
      ? escapedColumnsTemplate(fields, separator)
      : columnsTemplate(fields, separator, quotes)
  },
  fieldNames: ({ names }) => names,
  usualFields: ({ requestFields }) => requestFields,
  makeLines: (plan, locator) =>
    plan.isRows
      ? new TableRows(plan, locator)
      : plan.isObject
        ? new TableObjects(plan, locator)
        : new DelimitedLines(plan, locator),
  planRows: (options) => planRows(options, 'csv'),
}

export const TSV: FormatDefinition<DelimitedPlan> = {
  ...CSV,
  name: 'tsv',
  title: 'table with tabs',
  example: 'time\tclient_ip\n2026-07-01T12:00:00Z\t81.2.69.142',
  recognise: looksLikeTsv,
  plan: (sample, isWhole, options) => planDelimited(sample, isWhole, options, 'tsv'),
  planRows: (options) => planRows(options, 'tsv'),
}
