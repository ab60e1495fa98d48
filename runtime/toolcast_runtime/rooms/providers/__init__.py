"""Tools in the forms that model providers take, with an account of what each cannot say."""
