/** `@portico/http/sse`: server-sent events. */
export { SseData } from '../sse/sse-data.ts'
export { type SseEvent, SseParser, sseRecord } from '../sse/sse.ts'
