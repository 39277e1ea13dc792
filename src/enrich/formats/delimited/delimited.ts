// Tables whose records have as many columns as their header: CSV and TSV.

import { plainLayout } from '../../reading/layout.ts'
import { LineRecordEnds } from '../../reading/record-ends.ts'
import { columnsTemplate, escapedColumnsTemplate } from '../../writing/column-templates.ts'
import { columnsForm, jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { DelimitedReader } from './delimited-reader.ts'
import { type DelimitedPlan, planDelimited, planRows } from './plan.ts'
import { looksLikeCsv, looksLikeTsv } from './table.ts'
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
  form: (plan) => {
    const { isObject, fields, columns, replaced, delimiter, quotes, isRows } = plan
    if (isObject) return jsonForm(plan, 'object')
    const separator = String.fromCharCode(delimiter)
    const template =
      isRows && !quotes
        ? escapedColumnsTemplate(fields, separator)
        : columnsTemplate(fields, separator, quotes)
    return columnsForm(template, separator, columns, '', { replaced, quotes, count: fields.length })
  },
  fieldNames: ({ names }) => names,
  usualFields: ({ requestFields }) => requestFields,
  makeReader: (plan, wantsFields) => new DelimitedReader(plan, wantsFields),
  makeRows: (plan, locator) => (plan.isRows ? new TableRows(plan, locator) : null),
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
