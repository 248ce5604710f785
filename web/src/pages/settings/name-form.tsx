import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { queryClient, sessionKey } from '../../api/query-client'
import { useSignedIn } from '../../api/session'
import { ErrorNote, notifyDone } from '../../parts'
import { nameFormText } from '../../text/settings'
import { commonText } from '../../text/common'

/** The user's name, and the email for signing in. */
export function NameForm() {
  const { user } = useSignedIn()
  const [name, setName] = useState(user.name)
  const save = useMutation({
    mutationFn: (input: Inputs['user']['update']) => api.user.update.mutate(input),
    onSuccess: (saved) => {
      setName(saved.name)
      void queryClient.invalidateQueries({ queryKey: sessionKey })
      notifyDone(nameFormText.nameSaved)
    },
  })
  const issue = issueFor(save.error, 'name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ name: name.trim() })
  }
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        {save.error && !issue && <ErrorNote error={save.error} />}
        <TextInput
          label={commonText.name}
          autoComplete="name"
          required
          withAsterisk={false}
          maxLength={200}
          description={nameFormText.visibleToOthersInYour}
          value={name}
          error={issue}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={commonText.email}
          type="email"
          autoComplete="username"
          readOnly
          variant="filled"
          value={user.email}
          description={nameFormText.youSignInWithItIt}
        />
        <div>
          <Button type="submit" loading={save.isPending} disabled={name.trim() === '' || name.trim() === user.name}>
            {nameFormText.saveName}
          </Button>
        </div>
      </Stack>
    </form>
  )
}
