// npm run bench: side by side with other implementations, in one run on the same input.
import { benchDetect } from './detect.ts'
import { benchLookup } from './lookup.ts'

benchLookup()
benchDetect()
