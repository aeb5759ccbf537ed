import { Button, Textarea, TextInput } from '@mantine/core'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { useState } from 'react'
import { Story } from '../play/decided.tsx'
import { printHeaders, readHeaders } from '../play/headers-text.ts'
import { send, type Sent } from '../play/send.ts'
import { type AgainForm, againOf } from './again-of.ts'

/** The same request once more, as it was kept; what was not is said, and can be filled in. */
export function Again({ record }: { record: RequestRecord }) {
  const form = againOf(record)
  if (form === null) return <p className="note">It was no request that reached a listener: there is nothing to send.</p>
  return <AgainFields key={record.id} record={record} form={form} />
}

function AgainFields({ record, form }: { record: RequestRecord; form: AgainForm }) {
  const [method, setMethod] = useState(form.method)
  const [host, setHost] = useState(form.host)
  const [path, setPath] = useState(form.path)
  const [headersText, setHeadersText] = useState(printHeaders(form.headers))
  const [body, setBody] = useState(form.body)
  const [state, setState] = useState<'ready' | 'sending' | Sent | Error>('ready')
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
      setState(error instanceof Error ? error : new Error(String(error)))
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
        It goes to the listener <span className="mono">{record.listener}</span> of this gateway, as a client on its
        machine would send it, and does there whatever it does.
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
      <Button size="xs" variant="default" type="submit" disabled={state === 'sending'}>
        {state === 'sending' ? 'Sending …' : 'Send'}
      </Button>
      {state instanceof Error && (
        <p className="play-failed" role="alert">
          ▲ {state.message}
        </p>
      )}
      {typeof state === 'object' && !(state instanceof Error) && <Answer sent={state} />}
    </form>
  )
}

const MONO = { input: 'mono' }

function Answer({ sent }: { sent: Sent }) {
  const { status, headers, text, isBinary, end } = sent
  return (
    <section aria-label="Answer">
      <h3>
        <span className="mono">{status ?? 'no answer'}</span>
      </h3>
      <Story sent={sent} />
      <pre className="mono body">
        {printHeaders(headers)}
        {text !== '' && `\n\n${text}`}
        {isBinary && '\n\n(what is no text is not shown)'}
        {end?.isCut === true && '\n… cut here'}
      </pre>
    </section>
  )
}
