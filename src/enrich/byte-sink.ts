export { ByteSink } from '../bytes/byte-sink.ts'
