import { Textarea, TextInput } from '@mantine/core'
import type { PortMatch, RouteMatchView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useDraft } from '../expressions/use-draft.ts'
import { useKeys } from '../parts/use-keys.ts'
import { firstLack, questionOf, shareableHeaders } from './match-question.ts'
import { matchQuery } from './match-query.ts'

const page = getRouteApi('/routes')

/** A form that asks the router which route a URL matches. No request is sent through the gateway. */
export function TryMatch({ generation }: { generation: number }) {
  const { url = '', method = '', headers: shared = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const field = useRef<HTMLInputElement>(null)
  // The headers as written. The address has them without possible secrets.
  const [headers, setHeaders] = useState(shared)
  const set = (name: 'url' | 'method' | 'headers', text: string): Promise<void> =>
    navigate({
      search: ({ [name]: _before, ...rest }) => (text === '' ? rest : { ...rest, [name]: text }),
      replace: true,
    })
  const [writtenUrl, writeUrl] = useDraft(url, (text) => set('url', text))
  const [writtenMethod, writeMethod] = useDraft(method, (text) => set('method', text))
  const [writtenHeaders, writeHeaders] = useDraft(headers, (text) => {
    setHeaders(text)
    return set('headers', shareableHeaders(text))
  })
  const question = questionOf({ url, method, headers })
  const misread = question !== null && 'problem' in question ? question : null
  const { data, error } = useQuery(matchQuery(question !== null && 'url' in question ? question : null, generation))
  const answer = question !== null && misread === null ? data : undefined
  const taken = answer?.ports.flatMap(({ route }) => route ?? []) ?? []
  const open = (): void => {
    const [only, ...others] = new Set(taken.map(({ key }) => key))
    if (only !== undefined && others.length === 0)
      void navigate({ search: (before) => ({ ...before, route: only }), replace: true })
  }
  useKeys({ '/': () => field.current?.focus(), Escape: () => field.current?.blur() })
  return (
    <section className="try-match" aria-label="Does this URL match?">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          open()
        }}
      >
        <TextInput
          className="try-method"
          label="Method"
          placeholder="GET"
          classNames={MONO}
          maxLength={40}
          spellCheck={false}
          value={writtenMethod}
          onChange={(event) => writeMethod(event.currentTarget.value)}
        />
        <TextInput
          ref={field}
          className="try-url"
          label="Does this URL match?"
          placeholder="https://shop.example.com/orders?page=2, or /orders"
          classNames={MONO}
          maxLength={8192}
          spellCheck={false}
          autoComplete="off"
          value={writtenUrl}
          error={misread?.in === 'url' && misread.problem}
          onChange={(event) => writeUrl(event.currentTarget.value)}
        />
        {/* Enter in a field sends a form of several fields by its button alone. */}
        <button type="submit" className="visually-hidden" tabIndex={-1} aria-hidden="true" />
      </form>
      <details className="try-headers" open={headers !== '' || undefined}>
        <summary>Headers</summary>
        <Textarea
          aria-label="Headers, one on each line"
          placeholder={'x-team: web'}
          description="Keys, tokens and cookies stay in this page; other headers become part of its address."
          classNames={MONO}
          rows={2}
          value={writtenHeaders}
          error={misread?.in === 'headers' && misread.problem}
          onChange={(event) => writeHeaders(event.currentTarget.value)}
        />
      </details>
      {error !== null && answer === undefined && misread === null && question !== null && (
        <p className="try-problem" role="alert">
          {error.message}
        </p>
      )}
      {answer !== undefined && error === null && <Answer answer={answer} />}
    </section>
  )
}

const MONO = { input: 'mono' }

function Answer({ answer }: { answer: RouteMatchView }) {
  return (
    <ul className="try-answer" aria-label="Matching routes" aria-live="polite">
      {answer.ports.map((port) => (
        <li key={port.bind}>
          <Taken port={port} />
          {port.nearest.length > 0 && (
            <ul aria-label="Nearest other routes">
              {port.nearest.map((candidate) => (
                <li key={candidate.route}>
                  <Link to="/routes" search={(before) => ({ ...before, route: candidate.route })} className="mono">
                    {candidate.name === '' ? candidate.route : candidate.name}
                  </Link>{' '}
                  <span className="dim" title={candidate.lacks.join('; ')}>
                    {firstLack(candidate)}
                  </span>
                </li>
              ))}
            </ul>
          )}
          {port.remarks.map((remark) => (
            <p key={remark} className="dim">
              {remark}
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
}

function Taken({ port: { port, listener, route } }: { port: PortMatch }) {
  return (
    <p>
      <span className="mono">:{port}</span>{' '}
      {listener !== null && (
        <>
          <span className="mono dim">{listener.name}</span>{' '}
        </>
      )}
      {route === null ? (
        <strong className="try-none">▲ {listener === null ? 'No listener matches' : 'No route matches'}</strong>
      ) : (
        <>
          →{' '}
          <Link to="/routes" search={(before) => ({ ...before, route: route.key })} className="mono try-taken">
            {route.name === '' ? route.key : route.rule === '' ? route.name : `${route.name}/${route.rule}`}
          </Link>{' '}
          <span className="dim">matches, by its match {route.match + 1}</span>
        </>
      )}
    </p>
  )
}
