import type { MessageSpan } from '../../pipeline/spans/message-span.ts'
import { isObject, textAt } from '@portico/http/json'
import type { RpcMessage } from '../protocol.ts'

/** Ends a span with the outcome of a response: an error, a result with `isError`, or success. */
export function endWith(span: MessageSpan, { value: { error, result } }: RpcMessage): void {
  if (isObject(error))
    span.end(typeof error['code'] === 'number' ? String(error['code']) : 'error', textAt(error, 'message') ?? '')
  else span.end(isObject(result) && result['isError'] === true ? 'tool_error' : null)
}
