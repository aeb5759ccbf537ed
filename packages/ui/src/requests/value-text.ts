/** Formats the value that a step decided by: rules and lists in words, other values as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(itemText).join('; ')
  return JSON.stringify(value)
}

function itemText(item: unknown): string {
  return isRule(item) ? ruleText(item) : typeof item === 'string' ? item : JSON.stringify(item)
}

interface Rule {
  mode: string
  name: string
  matched: boolean
  error?: unknown
}

function isRule(item: unknown): item is Rule {
  return (
    typeof item === 'object' &&
    item !== null &&
    'mode' in item &&
    'matched' in item &&
    'name' in item &&
    typeof item.name === 'string'
  )
}

/** `deny rule request.method == "GET" is true`. */
function ruleText({ mode, name, matched, error }: Rule): string {
  const result = typeof error === 'string' ? `failed: ${error}` : matched ? 'is true' : 'is not true'
  return `${mode} rule ${name} ${result}`
}
