import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import schema from 'virtual:config-schema'
import { completeConfig } from './complete-config.ts'
import { diagnosticsOf, type EditorMark, offsetAt } from './editor-marks.ts'
import { editorTheme } from './editor-theme.ts'

export interface EditorProps {
  text: string
  isReadOnly: boolean
  marks: readonly EditorMark[]
  /** The location to scroll to. A new object scrolls again, even to the same location. */
  place: { line: number; column: number } | null
  onChange: (text: string) => void
  onSave: () => void
}

/**
 * The editor of the config. It lives in a shadow tree, where the styles that CodeMirror adds are style sheets and
 * no elements: the page allows none inline.
 */
export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  const { text, isReadOnly, marks, place } = props
  const isDark = useComputedColorScheme('light') === 'dark'
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (host.current === null) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const { text: doc } = latest.current
    const made = new EditorView({ parent: root, root, state: EditorState.create({ doc, extensions: basics(latest) }) })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const effects = [access.reconfigure(accessOf(isReadOnly)), look.reconfigure(editorTheme(isDark))]
    view.current?.dispatch({ effects })
  }, [isReadOnly, isDark])
  useEffect(() => {
    const now = view.current?.state.doc
    if (now !== undefined && now.toString() !== text)
      view.current?.dispatch({ changes: { from: 0, to: now.length, insert: text } })
  }, [text])
  useEffect(() => {
    const state = view.current?.state
    if (state !== undefined) view.current?.dispatch(setDiagnostics(state, diagnosticsOf(state.doc, marks)))
  }, [marks, text])
  useEffect(() => {
    const made = view.current
    if (made === null || place === null) return
    const at = offsetAt(made.state.doc, place.line, place.column)
    made.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
    made.focus()
  }, [place])
  return <div ref={host} className="config-editor" />
}

const access = new Compartment()
const look = new Compartment()

function accessOf(isReadOnly: boolean): Extension {
  return [
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': 'Text of the config', tabindex: '0' }),
  ]
}

function basics(latest: { readonly current: EditorProps }): Extension {
  return [
    lineNumbers(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    typeOver,
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    indentUnit.of('  '),
    highlightSelectionMatches(),
    search({ top: true }),
    yaml(),
    autocompletion({ override: [completeConfig(schema)], icons: false }),
    keymap.of([
      { key: 'Mod-s', run: () => (latest.current.onSave(), true) },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    access.of(accessOf(latest.current.isReadOnly)),
    look.of(editorTheme(false)),
    EditorView.updateListener.of(({ docChanged, state }) => {
      const text = state.doc.toString()
      if (docChanged && text !== latest.current.text) latest.current.onChange(text)
    }),
  ]
}

/**
 * `typeOver` replaces the selection by the typed text. The browser itself would copy the look of the old text as inline
 * styles, which the content security policy of the page forbids.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { state, composing } = view
    const { from, to, empty } = state.selection.main
    if (inputType !== 'insertText' || data === null || empty || composing || state.readOnly) return false
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    const isTaken = state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
    if (!isTaken) view.dispatch(insert())
    return true
  },
})
