import { UnsupportedField } from '@portico/chat'
import type { HeaderBlock, RawConnection } from '@portico/http'
import { readBoundary } from '@portico/http/multipart'
import type { UpstreamError, UpstreamHandler, UpstreamRequest, UpstreamResponse } from '@portico/http/client'
import { FormBody } from './form-body.ts'
import { FORM_CALLS, type FormKind } from './form-calls.ts'

/** The form in the body of a request, or the reason why it cannot be read. */
export function readForm(
  { headers, body }: Pick<UpstreamRequest, 'headers' | 'body'>,
  kind: FormKind,
  limit: number,
): FormBody | UnsupportedField {
  // Decoding would need a limit on a body that otherwise has none.
  const encoding = headers.joined('content-encoding')
  if (encoding !== null && !/^identity$/i.test(encoding)) return new UnsupportedField('body', 'must not be compressed')
  const read = readBoundary(headers.joined('content-type'))
  if ('problem' in read) return new UnsupportedField('body', read.problem)
  return new FormBody(body, { boundary: read.boundary, files: FORM_CALLS[kind].files, limit })
}

/** The handler of a call with a form: what was not read of the form when the client has its response is dropped. */
export class FormHandler implements UpstreamHandler {
  readonly #handler: UpstreamHandler
  readonly #form: FormBody

  constructor(handler: UpstreamHandler, form: FormBody) {
    this.#handler = handler
    this.#form = form
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    this.#form.discard(ANSWERED)
    this.#handler.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    this.#handler.failed(error)
  }
}

const ANSWERED = new Error('the client has its response')
