import { serve } from '../../../scripts/fuzz/serve.ts'
import { FAULTY_TARGETS } from './faulty-targets.ts'

serve(FAULTY_TARGETS)
