import { Button, Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type KeyboardEvent, useCallback, useState } from 'react'
import { recentQuery } from '../api/queries.ts'
import { useReadOnlyReason } from '../api/read-only.ts'
import { ReadOnly } from '../parts/read-only.tsx'
import { Credentials } from '../play/credentials.tsx'
import { DecisionList } from '../play/decision-list.tsx'
import { send, type SentRequest } from '../play/send.ts'
import { callTo, type PlayTarget } from '../play/targets.ts'
import { useMcp } from '../play/use-mcp.ts'
import { routeTitle } from '../format/print-match.ts'
import { knownModels, listedModels } from './known-models.ts'
import type { ModelsSearch } from './search.ts'
import { Turns } from './turns.tsx'
import { type Chat, useChat } from './use-chat.ts'

const page = getRouteApi('/models')

interface PlaygroundProps {
  target: PlayTarget
  toolTargets: readonly PlayTarget[]
}

/** A chat with the models of a route, with tools, and the decisions about each request beside it. */
export function Playground({ target, toolTargets }: PlaygroundProps) {
  const search = page.useSearch()
  const { model = '', system = '', whole = false } = search
  const [headersText, setHeadersText] = useState('')
  const [requests, setRequests] = useState<readonly SentRequest[]>([])
  const onSent = useCallback((sent: SentRequest) => setRequests((before) => [...before, sent]), [])
  const toolTarget = toolTargets.find(({ route }) => route.key === search.tools) ?? null
  const { session, tools } = useMcp(toolTarget, headersText, onSent)
  const chat = useChat({
    target,
    model,
    system,
    isStream: !whole,
    headersText,
    session,
    tools: toolTarget === null ? [] : (tools.data?.tools ?? []),
    onSent,
  })
  return (
    <div className="playground">
      <section className="chat" aria-label="Playground">
        <Settings target={target} toolTargets={toolTargets} tools={tools} toolTarget={toolTarget} onSent={onSent} />
        <Credentials text={headersText} onChange={setHeadersText} />
        <Turns turns={chat.turns} isBusy={chat.isBusy} backend={target.backend} />
        <Composer
          chat={chat}
          isReady={model.trim() !== '' && (toolTarget === null || tools.data !== undefined)}
          onClear={() => setRequests([])}
        />
      </section>
      <DecisionList requests={requests} />
    </div>
  )
}

interface SettingsProps {
  target: PlayTarget
  toolTargets: readonly PlayTarget[]
  toolTarget: PlayTarget | null
  tools: ReturnType<typeof useMcp>['tools']
  onSent: (sent: SentRequest) => void
}

function Settings({ target, toolTargets, toolTarget, tools, onSent }: SettingsProps) {
  const { model = '', system = '', whole = false } = page.useSearch()
  const navigate = page.useNavigate()
  const recent = useQuery(recentQuery)
  const [listed, setListed] = useState<readonly string[]>([])
  const change = (next: Partial<Record<keyof ModelsSearch, unknown>>): void =>
    void navigate({ search: (before) => ({ ...before, ...next }) as ModelsSearch, replace: true })
  const models = [...new Set([...knownModels(target, recent.data?.requests ?? []), ...listed])]
  const list = async (): Promise<void> => {
    const sent = await send({ ...callTo(target), method: 'GET', path: `${target.path}/models`, trace: true })
    onSent(sent)
    setListed(listedModels(sent.text))
  }
  return (
    <div className="chat-settings">
      <div className="chat-row">
        <TextInput
          label="Model"
          placeholder="Name of a model"
          list="models-known"
          classNames={{ input: 'mono' }}
          value={model}
          onChange={(event) => change({ model: event.currentTarget.value })}
        />
        <datalist id="models-known">
          {models.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button size="xs" variant="default" onClick={() => void list().catch(() => {})}>
          List models
        </Button>
        <NativeSelect
          label="Tools for the model"
          value={toolTarget?.route.key ?? ''}
          onChange={(event) => change({ tools: event.currentTarget.value || undefined })}
        >
          <option value="">none</option>
          {toolTargets.map(({ route }) => (
            <option key={route.key} value={route.key}>
              {routeTitle(route)}
            </option>
          ))}
        </NativeSelect>
        <Checkbox
          label="Streamed"
          checked={!whole}
          onChange={(event) => change({ whole: event.currentTarget.checked ? undefined : true })}
        />
      </div>
      {models.length > 0 && (
        <p className="note models-known" aria-label="Known models">
          {models.slice(0, 12).map((name) => (
            <button key={name} type="button" className="mono chip" onClick={() => change({ model: name })}>
              {name}
            </button>
          ))}
        </p>
      )}
      {toolTarget !== null && (
        <p className={tools.isError ? 'play-failed' : 'note'} role="status">
          {tools.isError && `Tools could not be listed: ${tools.error.message}`}
          {tools.data !== undefined && `${tools.data.tools.length} tools for the model`}
          {tools.isPending && 'Listing tools …'}
        </p>
      )}
      <Textarea
        label="System prompt"
        rows={2}
        value={system}
        onChange={(event) => change({ system: event.currentTarget.value || undefined })}
      />
    </div>
  )
}

function Composer({ chat, isReady, onClear }: { chat: Chat; isReady: boolean; onClear: () => void }) {
  const [text, setText] = useState('')
  const readOnly = useReadOnlyReason()
  const say = (): void => {
    if (text.trim() === '' || chat.isBusy || !isReady || readOnly !== null) return
    chat.say(text)
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    say()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        say()
      }}
    >
      <Textarea
        aria-label="Message"
        placeholder={isReady ? 'Message (Enter sends, Shift+Enter starts a new line)' : 'Name a model first'}
        rows={2}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-actions">
        {chat.isBusy ? (
          <Button size="xs" variant="default" onClick={chat.stop}>
            Stop
          </Button>
        ) : (
          <Button
            size="xs"
            variant="default"
            type="submit"
            disabled={!isReady || text.trim() === '' || readOnly !== null}
          >
            Send
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          disabled={chat.turns.length === 0}
          onClick={() => {
            chat.clear()
            onClear()
          }}
        >
          Clear
        </Button>
        <ReadOnly reason={readOnly} />
      </div>
    </form>
  )
}
