import { serve } from '../../../scripts/fuzz/serve.ts'
import { FAULTY_TARGETS } from './faulty-targets.ts'

await serve(FAULTY_TARGETS)
