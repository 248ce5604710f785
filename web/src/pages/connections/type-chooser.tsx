import { Choices, ErrorNote } from '../../parts'
import { typeChooserText } from '../../text/connections'
import { TypeIcon, useTypes } from './types'

/** The types of connections, as links to their forms. */
export function TypeChooser() {
  const types = useTypes()
  if (types.error && !types.data) return <ErrorNote error={types.error} onRetry={() => void types.refetch()} />
  return (
    <Choices
      label={typeChooserText.connectionTypes}
      choices={types.data?.map(({ type, title, description }) => ({
        key: type,
        icon: <TypeIcon type={type} size={22} />,
        title,
        text: description,
        to: `/connections/new?type=${type}`,
      }))}
    />
  )
}
