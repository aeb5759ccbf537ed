import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { choiceText, type Draft, type DraftProblem, emptyDraft } from './draft.ts'
import type { SchemaField } from './schema-field.ts'

interface FieldProps {
  field: SchemaField
  /** `options.limit` */
  path: string
  draft: Draft
  problems: readonly DraftProblem[]
  onChange: (draft: Draft) => void
}

/** One field of a form, with the fields in it. */
export function Field(props: FieldProps) {
  const { field } = props
  if (field.kind === 'object') return <Fields {...props} field={field} />
  if (field.kind === 'list') return <List {...props} field={field} />
  return <Plain {...props} field={field} />
}

type Of<Kind extends SchemaField['kind']> = FieldProps & { field: Extract<SchemaField, { kind: Kind }> }

function Fields({ field, path, draft, problems, onChange }: Of<'object'>) {
  const parts = typeof draft === 'object' && !Array.isArray(draft) ? (draft as { readonly [name: string]: Draft }) : {}
  const inner = field.fields.map((each) => (
    <Field
      key={each.name}
      field={each}
      path={path === '' ? each.name : `${path}.${each.name}`}
      draft={parts[each.name] ?? emptyDraft(each)}
      problems={problems}
      onChange={(next) => onChange({ ...parts, [each.name]: next })}
    />
  ))
  if (path === '') return <div className="tool-fields">{inner}</div>
  return (
    <fieldset className="tool-fields">
      <legend>
        <Label field={field} path={path} />
      </legend>
      {field.description !== '' && <p className="dim">{field.description}</p>}
      {inner}
    </fieldset>
  )
}

function List({ field, path, draft, problems, onChange }: Of<'list'>) {
  const items = Array.isArray(draft) ? (draft as readonly Draft[]) : []
  const problem = problems.find((each) => each.path === path)
  return (
    <fieldset className="tool-fields">
      <legend>
        <Label field={field} path={path} />
      </legend>
      {field.description !== '' && <p className="dim">{field.description}</p>}
      {items.map((item, index) => (
        <div key={index} className="tool-item">
          <Field
            field={field.item}
            path={`${path}[${index}]`}
            draft={item}
            problems={problems}
            onChange={(next) => onChange(items.map((each, at) => (at === index ? next : each)))}
          />
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Remove ${path}[${index}]`}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      {items.length < field.most && (
        <Button size="compact-xs" variant="default" onClick={() => onChange([...items, emptyDraft(field.item)])}>
          Add to {path}
        </Button>
      )}
      {problem !== undefined && <p className="play-failed">{problem.text}</p>}
    </fieldset>
  )
}

function Plain({ field, path, draft, problems, onChange }: FieldProps) {
  const common = {
    label: <Label field={field} path={path} />,
    description: field.description === '' ? undefined : field.description,
    error: problems.find((each) => each.path === path)?.text,
    value: typeof draft === 'string' ? draft : '',
  }
  if (field.kind === 'boolean' || field.kind === 'choice') {
    const choices = field.kind === 'boolean' ? ['true', 'false'] : field.choices.map(choiceText)
    return (
      <NativeSelect {...common} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{field.isNeeded ? 'Choose' : 'Leave out'}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </NativeSelect>
    )
  }
  if (field.kind === 'json')
    return (
      <Textarea
        {...common}
        rows={3}
        placeholder="JSON"
        classNames={{ input: 'mono' }}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  if (field.kind === 'text')
    return <Textarea {...common} rows={1} onChange={(event) => onChange(event.currentTarget.value)} />
  return (
    <TextInput
      {...common}
      inputMode={field.kind === 'integer' ? 'numeric' : 'decimal'}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function Label({ field, path }: { field: SchemaField; path: string }) {
  const kinds = { text: 'text', json: 'JSON', list: 'list', object: '', choice: '', boolean: '' } as const
  const kind = field.kind === 'number' || field.kind === 'integer' ? field.kind : kinds[field.kind]
  return (
    <>
      <span className="mono">{field.name === '' ? path : field.name}</span>{' '}
      <span className="dim">
        {kind}
        {field.isNeeded ? ' required' : ''}
      </span>
    </>
  )
}
