import { sourceOf } from '@portico/http'
import type { UpstreamResponse } from '@portico/http/client'
import { follow } from '../../pipeline/call/follow.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { headerMap } from '../../pipeline/ext-proc/mutation.ts'
import type { Side } from '../../pipeline/ext-proc/side.ts'
import { editableAttempt } from '../../pipeline/policy/editable-message.ts'

/** One attempt, as a picker may see and change it. */
export function attemptSide(outgoing: OutgoingRequest, rx: RequestContext): Side {
  return {
    name: 'request',
    message: editableAttempt(outgoing, rx),
    part: ':path',
    hasBody: outgoing.body.length !== 0 && outgoing.upgrade === '',
    get body() {
      return outgoing.body
    },
    set body(body) {
      outgoing.body = body
    },
    buffered: null,
    headerMap() {
      const { method, authority, target, headers } = outgoing
      const first = [
        [':method', method],
        [':scheme', rx.scheme],
        [':authority', authority],
        [':path', target],
      ] as const
      return headerMap(first, headers)
    },
    brokenOff: () => null,
    read: unbuffered,
    follow: (work) => follow(rx, work),
  }
}

/** The response of an endpoint, as a picker may see and change it. */
export function answerSide(response: UpstreamResponse, rx: RequestContext, brokenOff: Side['brokenOff']): Side {
  const { headers } = response
  return {
    name: 'response',
    message: {
      headers,
      setPart(name, value) {
        if (name !== ':status' || !/^[2-5][0-9][0-9]$/.test(value)) return false
        response.status = Number(value)
        return true
      },
      replaceBody(content) {
        if (response.body.length === 0) return
        response.body.cancel(REPLACED)
        headers.remove('content-length')
        response.body = sourceOf(content())
      },
    },
    part: ':status',
    hasBody: response.body.length !== 0,
    get body() {
      return response.body
    },
    set body(body) {
      response.body = body
    },
    buffered: null,
    headerMap: () => headerMap([[':status', String(response.status)]], headers),
    brokenOff,
    read: unbuffered,
    follow: (work) => follow(rx, work),
  }
}

function unbuffered(): void {
  throw new Error('bodies of inference pools are streamed')
}

const REPLACED = new Error('body replaced')
