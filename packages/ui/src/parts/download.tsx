/** A text as a file, made where it is shown: nothing is asked of the gateway. */
export function Download({ text, name }: { text: string; name: string }) {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
    const link = document.createElement('a')
    link.href = address
    link.download = name
    link.click()
    URL.revokeObjectURL(address)
  }
  return (
    <button type="button" className="link" onClick={save}>
      download {name}
    </button>
  )
}
