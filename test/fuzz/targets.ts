import type { Target } from './target.ts'
import { address } from './targets/address.ts'
import { client } from './targets/client.ts'
import { delimited } from './targets/delimited.ts'
import { detection } from './targets/detection.ts'
import { gzip } from './targets/gzip.ts'
import { headed } from './targets/headed.ts'
import { json } from './targets/json.ts'
import { locale } from './targets/locale.ts'
import { logLines } from './targets/log-lines.ts'
import { masks } from './targets/masks.ts'
import { mmdb } from './targets/mmdb.ts'
import { ndjson } from './targets/ndjson.ts'
import { packed } from './targets/packed.ts'
import { rowsTarget } from './targets/rows.ts'
import { tar } from './targets/tar.ts'
import { text } from './targets/text.ts'
import { writer } from './targets/writer.ts'

export const TARGETS: readonly Target[] = [
  address,
  client,
  gzip,
  tar,
  mmdb,
  packed,
  writer,
  ndjson,
  json,
  rowsTarget,
  delimited,
  headed,
  logLines,
  text,
  masks,
  detection,
  locale,
]
