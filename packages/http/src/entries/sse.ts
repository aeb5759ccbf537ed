/** `@portico/http/sse`: server-sent events. */
export { SseData } from '../wire/sse-data.ts'
export { type SseEvent, SseParser, sseRecord } from '../wire/sse.ts'
