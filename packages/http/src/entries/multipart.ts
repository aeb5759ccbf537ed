/** `@portico/http/multipart`: forms with files, split into their parts while they arrive. */
export { readBoundary } from '../multipart/boundary.ts'
export { MultipartReader, type PartReceiver } from '../multipart/multipart-reader.ts'
export type { PartHead } from '../multipart/part-head.ts'
