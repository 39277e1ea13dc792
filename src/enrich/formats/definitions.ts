import { ACCESS_LOG } from './access-log/access-log.ts'
import { CSV, SSV, TSV, W3C, ZEEK } from './delimited/delimited.ts'
import type { FormatDefinition } from './format-definition.ts'
import { JSON_DOCUMENTS } from './json/json.ts'
import { LIST } from './list.ts'
import { NDJSON } from './ndjson/ndjson.ts'
import { AWS_ALB, AWS_ELB, AWS_S3, CUSTOM_LOG, SQUID } from './pattern/pattern.ts'
import { TEXT } from './text/text.ts'

/** The definitions of all formats, in the order of `FORMATS`. */
export const DEFINITIONS = [
  JSON_DOCUMENTS,
  NDJSON,
  W3C,
  ZEEK,
  ACCESS_LOG,
  AWS_ALB,
  AWS_ELB,
  AWS_S3,
  SQUID,
  CUSTOM_LOG,
  SSV,
  LIST,
  TSV,
  CSV,
  TEXT,
] as const

type PlanOf<Definition> = Definition extends FormatDefinition<infer Plan> ? Plan : never

/** The plan of one of the formats. */
export type FormatPlan = PlanOf<(typeof DEFINITIONS)[number]>
