import { Copy } from '../parts/copy.tsx'
import { FIRST_CONFIGS } from './first-configs.ts'

/** A config without routes: three ways to begin. */
export function FirstSteps() {
  return (
    <section className="first-steps">
      <h1>This gateway has no routes yet</h1>
      <p className="dim">Put one of these into its config file; a change is live within half a second.</p>
      <div className="cards">
        {FIRST_CONFIGS.map(({ title, about, text }) => (
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
