import { TARGETS } from '../../test/fuzz/targets.ts'
import { serve } from './serve.ts'

await serve(TARGETS)
