import { Button, Textarea } from '@mantine/core'
import { useRef, useState } from 'react'
import { formatCount } from '../format/numbers.ts'
import { McpFailure, type McpResult, type McpSession, type McpTool } from '../play/mcp-session.ts'
import { draftOf, type Draft, emptyDraft, readDraft } from './draft.ts'
import { Field } from './field.tsx'
import { ToolResult } from './result.tsx'
import { argumentsField } from './schema-field.ts'
import { estimatedTokens } from './tool-size.ts'
import { useReadOnlyReason } from '../api/read-only.ts'
import { ReadOnly } from '../parts/read-only.tsx'
import { asError } from '../api/unknown-values.ts'

type State =
  | { kind: 'ready' }
  | { kind: 'calling' }
  | { kind: 'done'; result: McpResult }
  | { kind: 'failed'; text: string }

/** A form made from the schema of a tool, and the result of the call. */
export function ToolCall({ tool, session }: { tool: McpTool; session: McpSession }) {
  const field = argumentsField(tool.inputSchema)
  const readOnly = useReadOnlyReason()
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(field))
  const [raw, setRaw] = useState<string | null>(() => (field.kind === 'object' ? null : '{}'))
  const [isTried, setTried] = useState(false)
  const [state, setState] = useState<State>({ kind: 'ready' })
  const running = useRef<AbortController | null>(null)
  const read = raw === null ? readDraft(field, draft) : readDraft({ ...JSON_FIELD, isNeeded: true }, raw)
  const problems = isTried ? read.problems : []

  const toggle = (): void => {
    if (raw === null) setRaw(JSON.stringify(read.value ?? {}, null, 2))
    else if (read.problems.length === 0) {
      setDraft(draftOf(field, read.value))
      setRaw(null)
    } else setTried(true)
  }
  const submit = async (): Promise<void> => {
    setTried(true)
    if (read.problems.length > 0) return
    const stop = new AbortController()
    running.current = stop
    setState({ kind: 'calling' })
    try {
      const { result } = await session.callTool(tool.name, read.value, stop.signal)
      setState({ kind: 'done', result })
    } catch (error) {
      setState({ kind: 'failed', text: stop.signal.aborted ? 'Stopped' : wordsOf(error) })
    }
  }
  return (
    <article className="tool">
      <h2>
        <span className="mono">{tool.name}</span>{' '}
        <span className="dim tool-facts" title="An estimate: four bytes of its JSON for a token">
          ≈ {formatCount(estimatedTokens(tool))} tokens
        </span>
      </h2>
      {tool.title !== undefined && tool.title !== tool.name && <p>{tool.title}</p>}
      {tool.description !== undefined && <p className="play-text">{tool.description}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {raw === null ? (
          <Field field={field} path="" draft={draft} problems={problems} onChange={setDraft} />
        ) : (
          <Textarea
            label="Arguments as JSON"
            rows={8}
            classNames={{ input: 'mono' }}
            value={raw}
            error={problems[0]?.text}
            onChange={(event) => setRaw(event.currentTarget.value)}
          />
        )}
        {isTried && raw === null && read.problems.length > 0 && (
          <p className="play-failed" role="alert">
            {read.problems.length} {read.problems.length === 1 ? 'field has' : 'fields have'} a problem
          </p>
        )}
        <div className="tool-actions">
          {state.kind === 'calling' ? (
            <Button size="xs" variant="default" onClick={() => running.current?.abort()}>
              Stop
            </Button>
          ) : (
            <Button size="xs" variant="default" type="submit" disabled={readOnly !== null}>
              Call
            </Button>
          )}
          {field.kind === 'object' && (
            <Button size="xs" variant="default" onClick={toggle}>
              {raw === null ? 'Write JSON' : 'Fill in the form'}
            </Button>
          )}
          <ReadOnly reason={readOnly} />
        </div>
      </form>
      <details className="tool-schema">
        <summary>Schema</summary>
        <pre className="mono play-text">{JSON.stringify(tool.inputSchema, null, 2)}</pre>
      </details>
      {state.kind === 'calling' && <p role="status">Calling …</p>}
      {state.kind === 'failed' && (
        <p className="play-failed" role="alert">
          ▲ {state.text}
        </p>
      )}
      {state.kind === 'done' && <ToolResult result={state.result} />}
    </article>
  )
}

const JSON_FIELD = { kind: 'json', name: '', description: '' } as const

function wordsOf(error: unknown): string {
  if (error instanceof McpFailure)
    return error.sent.status === 200 ? error.message : `${error.sent.status ?? ''} ${error.message}`
  return asError(error).message
}
