import { Copy } from '../parts/copy.tsx'
import { FIRST_MODELS, FIRST_TOOLS } from './first-configs.ts'

const STEPS = [
  {
    title: 'HTTP',
    about: 'A service behind a port.',
    text: `binds:
- port: 8080
  listeners:
  - routes:
    - name: api
      backends:
      - host: "127.0.0.1:9000"
`,
  },
  {
    title: 'Models',
    about: 'A chat, answered by a mock until you name a provider.',
    text: FIRST_MODELS,
  },
  {
    title: 'Tools',
    about: 'An MCP server by its address.',
    text: FIRST_TOOLS,
  },
] as const

/** A config without routes: three ways to begin. */
export function FirstSteps() {
  return (
    <section className="first-steps">
      <h1>This gateway has no routes yet</h1>
      <p className="dim">Put one of these into its config file; a change is live within half a second.</p>
      <div className="cards">
        {STEPS.map(({ title, about, text }) => (
          <article key={title}>
            <h2>
              {title} <Copy text={text} label={`Copy the config for ${title}`} />
            </h2>
            <p className="dim">{about}</p>
            <pre className="mono">{text}</pre>
          </article>
        ))}
      </div>
    </section>
  )
}
