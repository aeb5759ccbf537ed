import { NativeSelect, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { ExpressionAttachment } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useKeys } from '../parts/use-keys.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { type EvaluationInput, readVariables } from './evaluation-input.ts'
import { InputPick } from './input-pick.tsx'
import { placesQuery } from './queries.ts'
import { Result } from './result.tsx'
import { useDraft } from './use-draft.ts'
import './expressions.css'

const page = getRouteApi('/expressions')

/** An expression, its input, and the value of each of its parts. */
export function ExpressionsPage() {
  const { data, error, refetch } = useQuery(placesQuery)
  const { phase: chosen } = page.useSearch()
  if (data === undefined && error !== null) {
    return <Failed what="Expressions" error={error} onRetry={() => void refetch()} />
  }
  if (data === undefined) return <Loading what="expressions" />
  const place = data.places.find(({ phase }) => phase === chosen) ?? data.places[0]
  return place === undefined ? null : <Trial places={data.places} place={place} />
}

function Trial({ places, place }: { places: readonly ExpressionAttachment[]; place: ExpressionAttachment }) {
  const { expression = '', id } = page.useSearch()
  const navigate = page.useNavigate()
  const field = useRef<HTMLTextAreaElement>(null)
  const [written, write] = useDraft(expression, (text) =>
    navigate({
      search: ({ expression: _before, ...rest }) => (text === '' ? rest : { ...rest, expression: text }),
      replace: true,
    }),
  )
  const [variablesText, setVariablesText] = useState(FIRST_VARIABLES)
  const [settledText] = useDebouncedValue(variablesText, 300)
  const variables = readVariables(settledText)
  const given: EvaluationInput | null =
    id !== undefined ? { requestId: id } : typeof variables === 'string' ? null : variables
  const goTo = (offset: number): void => {
    field.current?.focus()
    field.current?.setSelectionRange(offset, offset + 1)
  }
  useKeys({ '/': () => field.current?.focus(), Escape: () => field.current?.blur() })
  return (
    <div className="expressions">
      <div className="expr-head">
        <h1>Expressions</h1>
        <Textarea
          ref={field}
          label="Expression"
          classNames={MONO}
          placeholder={'request.method == "GET" && response.code >= 400'}
          autosize
          minRows={2}
          maxRows={12}
          maxLength={8192}
          spellCheck={false}
          value={written}
          onChange={(event) => write(event.currentTarget.value)}
        />
        <NativeSelect
          label="Used in"
          value={place.phase}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: (before) => ({ ...before, phase: value }), replace: true })
          }
        >
          {places.map(({ phase, about }) => (
            <option key={phase} value={phase}>
              {phase}: {about}
            </option>
          ))}
        </NativeSelect>
        <VariableList place={place} />
      </div>
      <InputPick
        text={variablesText}
        problem={typeof variables === 'string' ? variables : null}
        onText={setVariablesText}
      />
      <Result expression={expression} phase={place.phase} given={given} onPlace={goTo} />
    </div>
  )
}

const MONO = { input: 'mono' }

const FIRST_VARIABLES = `{
  "request": { "method": "GET", "path": "/" },
  "jwt": { "sub": "ann" }
}`

/** The variables that expressions of a phase can read. */
function VariableList({ place: { phase, variables } }: { place: ExpressionAttachment }) {
  return (
    <details className="expr-readable">
      <summary>
        Available: {variables.length} {variables.length === 1 ? 'variable' : 'variables'}
      </summary>
      {variables.length === 0 && <p className="note">An expression of {phase} has no variables.</p>}
      <dl>
        {variables.map(({ name, fields, isOptional }) => (
          <div key={name}>
            <dt>
              <span className="mono">{name}</span>
              {isOptional && <span className="dim"> may be absent</span>}
            </dt>
            <dd className="mono dim">{fields === null ? 'any field' : fields.join(', ')}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
