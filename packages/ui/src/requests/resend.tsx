import { Button, Textarea, TextInput } from '@mantine/core'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { useState } from 'react'
import { Story } from '../play/decision-list.tsx'
import { printHeaders, readHeaders } from '../play/headers-text.ts'
import { send, type SentRequest } from '../play/send.ts'
import { type ResendForm, resendForm } from './resend-form.ts'
import { useReadOnlyReason } from '../api/read-only.ts'
import { ReadOnly } from '../parts/read-only.tsx'
import { asError } from '../api/unknown-values.ts'

/** A form that sends a recorded request again. It lists the parts that were not recorded, for people to fill in. */
export function Resend({ record }: { record: RequestRecord }) {
  const form = resendForm(record)
  if (form === null)
    return <p className="note">This was not an HTTP request to a listener, so it cannot be sent again.</p>
  return <ResendFields key={record.id} record={record} form={form} />
}

function ResendFields({ record, form }: { record: RequestRecord; form: ResendForm }) {
  const readOnly = useReadOnlyReason()
  const [method, setMethod] = useState(form.method)
  const [host, setHost] = useState(form.host)
  const [path, setPath] = useState(form.path)
  const [headersText, setHeadersText] = useState(printHeaders(form.headers))
  const [body, setBody] = useState(form.body)
  const [state, setState] = useState<'ready' | 'sending' | SentRequest | Error>('ready')
  const headers = readHeaders(headersText)
  const submit = async (): Promise<void> => {
    if (typeof headers === 'string') return
    setState('sending')
    try {
      setState(
        await send({
          bind: record.bind ?? '',
          listener: record.keys.listener ?? '',
          method,
          path,
          headers,
          trace: true,
          ...(host !== '' && { host }),
          ...(body !== '' && { body }),
        }),
      )
    } catch (error) {
      setState(asError(error))
    }
  }
  return (
    <form
      className="again"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <p className="dim">
        The request goes to the listener <span className="mono">{record.listener}</span> of this gateway, as from a
        client on the same machine, with all its effects.
      </p>
      {form.remarks.map((remark) => (
        <p key={remark} className="play-refused">
          ▲ {remark}
        </p>
      ))}
      <div className="again-line">
        <TextInput
          label="Method"
          classNames={MONO}
          value={method}
          onChange={(event) => setMethod(event.currentTarget.value)}
        />
        <TextInput
          label="Host"
          classNames={MONO}
          value={host}
          onChange={(event) => setHost(event.currentTarget.value)}
        />
        <TextInput
          label="Path"
          classNames={MONO}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
      </div>
      <Textarea
        label="Headers"
        rows={3}
        classNames={MONO}
        value={headersText}
        error={typeof headers === 'string' ? headers : null}
        onChange={(event) => setHeadersText(event.currentTarget.value)}
      />
      <Textarea
        label="Body"
        rows={3}
        classNames={MONO}
        value={body}
        onChange={(event) => setBody(event.currentTarget.value)}
      />
      <Button size="xs" variant="default" type="submit" disabled={state === 'sending' || readOnly !== null}>
        {state === 'sending' ? 'Sending …' : 'Send'}
      </Button>
      <ReadOnly reason={readOnly} />
      {state instanceof Error && (
        <p className="play-failed" role="alert">
          ▲ {state.message}
        </p>
      )}
      {typeof state === 'object' && !(state instanceof Error) && <ResponseView sent={state} />}
    </form>
  )
}

const MONO = { input: 'mono' }

function ResponseView({ sent }: { sent: SentRequest }) {
  const { status, headers, text, isBinary, end } = sent
  return (
    <section aria-label="Response">
      <h3>
        <span className="mono">{status ?? 'No response'}</span>
      </h3>
      <Story sent={sent} />
      <pre className="mono body">
        {printHeaders(headers)}
        {text !== '' && `\n\n${text}`}
        {isBinary && '\n\n(binary parts are not shown)'}
        {end?.isCut === true && '\n… cut here'}
      </pre>
    </section>
  )
}
