import { readFileSync } from 'node:fs'

/** One config of a README with the conversations shown below it. */
export interface Example {
  yaml: string
  line: number
  conversations: Conversation[]
}

/** Messages by who says them to whom, such as `client sends`; each is a first line with header lines. */
export interface Conversation {
  line: number
  turns: { who: string; body: string | null; lines: string[] }[]
}

/** Every `yaml` fence is a whole config file; every `http` fence is a conversation with the config above it. */
export function readExamples(file: string): Example[] {
  const text = readFileSync(file, 'utf8')
  const examples: Example[] = []
  for (const fence of text.matchAll(/^```(yaml|http)\n([^]*?)^```$/gm)) {
    const line = text.slice(0, fence.index).split('\n').length
    if (fence[1] === 'yaml') examples.push({ yaml: fence[2]!, line, conversations: [] })
    else examples.at(-1)!.conversations.push({ line, turns: readTurns(fence[2]!) })
  }
  return examples
}

/** Turns are separated by empty lines and begin with `# <who>`, or ``# <who>, with the body `text` ``. */
function readTurns(text: string): Conversation['turns'] {
  return text
    .trim()
    .split('\n\n')
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      const found = /^# ([a-z ]+?)(?:, with the body `(.*)`)?$/.exec(title)
      if (found === null) throw new Error(`not the title of a turn: ${title}`)
      return { who: found[1]!, body: found[2] ?? null, lines }
    })
}
