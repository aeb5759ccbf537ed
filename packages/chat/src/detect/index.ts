/** Reads usage, ids, ends and errors from responses that pass through without translation. */
export { DetectedAnswer, DetectedRequest } from './detect.ts'
export { watchStream } from './watched-stream.ts'
