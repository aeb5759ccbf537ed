import { literalPart, Template } from '../core/config-yaml.ts'

/** Texts that a tool or Kong fills in: `$NAME`, `${NAME}`, `${{ env "NAME" }}`, `{vault://env/name}`. */
const PLACEHOLDER =
  /\$\{\{\s*env\s+["']?([A-Za-z_]\w*)["']?\s*\}\}|\{vault:\/\/([\w./-]+)\}|\$\{([A-Za-z_]\w*)\}|\$([A-Z_][A-Z0-9_]*)/g

/** The variable of a text that is nothing but a placeholder; null for other texts. */
export function variableOfText(text: string): string | null {
  const [found] = text.matchAll(PLACEHOLDER)
  return found !== undefined && found[0] === text ? nameOf(found) : null
}

export function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0
}

/** The text in a config: each placeholder becomes `${NAME}`. */
export function templateOf(text: string): string | Template {
  if (!hasPlaceholder(text)) return text
  let [found, end] = ['', 0]
  for (const match of text.matchAll(PLACEHOLDER)) {
    found += `${literalPart(text.slice(end, match.index))}\${${nameOf(match)}}`
    end = match.index + match[0].length
  }
  return new Template(found + literalPart(text.slice(end)))
}

/** The text with a value in place of each placeholder. */
export function filledText(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (...match: (string | undefined)[]) => valueOf(nameOf(match)))
}

function nameOf(match: readonly (string | undefined)[]): string {
  const [, env, vault, braced, plain] = match
  if (vault === undefined) return env ?? braced ?? plain ?? ''
  const name = vault
    .replace(/^env\//, '')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
  return /^[A-Z_]/.test(name) ? name : `VAULT_${name}`
}
